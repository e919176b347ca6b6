from .exporting import export_model as export_model
from .importing import import_model as import_model, load_backbone as load_backbone
