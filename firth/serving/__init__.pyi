from .bundle import export_bundle as export_bundle, load_served as load_served
from .client import (
    Client as Client,
    forget_client as forget_client,
    shared_client as shared_client,
)
from .exported_model import NoModelError as NoModelError, read_description as read_description
from .saved_model import export as export
from .signature_client import Candidate as Candidate, Scored as Scored
from .slots.batcher import (
    ContinuousBatcher as ContinuousBatcher,
    SlotPrompt as SlotPrompt,
    SlotText as SlotText,
)
from .validation import validate_serving as validate_serving
