/** The one page of the agent's own: the service could not be reached, so there is nowhere to go back to. */
import { createHash } from 'node:crypto'

const STYLE =
  ':root{color-scheme:light dark;font:1rem/1.6 system-ui,sans-serif}main{max-width:34rem;margin:15vh auto;padding:0 1.5rem}h1{font-size:1.4rem}a{color:inherit}'
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** Nothing is loaded, framed or run. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

const WORDS = {
  en: {
    title: 'This device could not be checked',
    why: 'The agent on this device could not reach the sign-in service.',
    how: 'Check that you are online, then try again. The page where you are signing in is still open in another tab; if it has expired, start again there.',
    again: 'Try again',
  },
  de: {
    title: 'Dieses Gerät konnte nicht geprüft werden',
    why: 'Der Agent auf diesem Gerät hat den Anmeldedienst nicht erreicht.',
    how: 'Prüfen Sie, ob Sie online sind, und versuchen Sie es noch einmal. Die Anmeldung ist in einem anderen Tab noch offen; ist sie abgelaufen, beginnen Sie dort von vorn.',
    again: 'Noch einmal versuchen',
  },
} as const

/** `path` is ours: it has been judged, and holds no sign that means anything in HTML. */
export function unreachablePage(path: string, acceptLanguage: string): string {
  const language = /^\s*de\b/i.test(acceptLanguage) ? 'de' : 'en'
  const { title, why, how, again } = WORDS[language]
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1><p>${why}</p><p>${how}</p><p><a href="${path}">${again}</a></p></main></body></html>\n`
}
