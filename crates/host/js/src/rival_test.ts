/** The module `rival/test`. */
export {}
