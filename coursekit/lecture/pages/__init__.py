"""The classes that the lectures show whole, under the same names: a second use is an import."""
