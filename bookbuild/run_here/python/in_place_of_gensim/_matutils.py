"""In place of gensim's compiled sums, which the book does not use."""

dirichlet_expectation = logsumexp = mean_absolute_difference = None
