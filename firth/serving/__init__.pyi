from .bundle import export_bundle as export_bundle
from .bundle import load_served as load_served
from .client import Candidate as Candidate
from .client import Client as Client
from .client import NoModelError as NoModelError
from .client import Scored as Scored
from .saved_model import export as export
from .validation import validate_serving as validate_serving
