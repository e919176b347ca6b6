from .table import TASKS as TASKS
