export const rival = true
