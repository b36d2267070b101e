/** The languages and regions whose data is here; others are answered in English, as the standard has it. */
export const LOCALES = [
    'en', 'en-GB', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'da', 'nb', 'fi', 'cs', 'tr', 'ru', 'uk', 'ja', 'zh', 'ko',
]
