"""What texts are compared and measured by: words, sentences, n-grams, languages."""
