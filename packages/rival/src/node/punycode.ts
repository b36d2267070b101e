/** `node:punycode`. */
// @ts-expect-error It has no types.
import punycode from '../../node_modules/punycode/punycode.es6.js'

export const { decode, encode, toASCII, toUnicode, ucs2, version } = punycode
export default punycode
