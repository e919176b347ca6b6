from .model import LanguageModel as LanguageModel
from .opening import create as create, load as load
from .preprocessor import Preprocessor as Preprocessor
from .pretraining import pretrain as pretrain
