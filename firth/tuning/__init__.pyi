from .adapters import (
    AdapterError as AdapterError,
    load_adapter as load_adapter,
    load_adapters as load_adapters,
    load_additions as load_additions,
    load_merged as load_merged,
    method_of_additions as method_of_additions,
    save_adapter as save_adapter,
    save_additions as save_additions,
)
from .additions import merge as merge
from .counts import (
    TuningCosts as TuningCosts,
    trainable_parameters as trainable_parameters,
    tuning_costs as tuning_costs,
)
from .layers import TuningError as TuningError
from .method_kinds import METHODS as METHODS
