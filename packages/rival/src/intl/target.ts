/** What the polyfills take for the global of this name: asking for the real one would evaluate them again. */
export const Intl: Record<string, any> = {}
