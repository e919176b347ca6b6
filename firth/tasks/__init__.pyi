from .task_kinds import TASKS as TASKS
