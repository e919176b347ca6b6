"""Words, sentences, n-grams and languages, by which texts are compared and measured."""
