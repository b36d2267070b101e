/** `node:path`, as it is on Unix. */
// @ts-expect-error It has no types.
import path from '../../node_modules/path-browserify/index.js'

export const { basename, delimiter, dirname, extname, format, isAbsolute, join, normalize, parse, relative, resolve, sep } = path
export const posix = path
export default path
