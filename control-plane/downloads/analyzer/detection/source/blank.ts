/**
 * Code with its comments and the insides of its strings replaced by blanks, character for
 * character: what a pattern finds in the rest is code, and it stands where the text has it. No
 * parser: a nested quote inside an interpolation comes out as code, and nothing worse happens.
 */

export const SOURCE_LANGUAGES = [
  'python',
  'ruby',
  'php',
  'java',
  'kotlin',
  'groovy',
  'csharp',
  'go',
] as const
export type SourceLanguage = (typeof SOURCE_LANGUAGES)[number]

/** The end of the text: `$` is the end of any line here. */
const END = String.raw`(?![\s\S])`
const SLASHES = String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|${END}))`
/** Kotlin's nest; one in another is as deep as they are followed. */
const NESTING = String.raw`(?<comment>\/\/[^\n]*|\/\*(?:[^*/]+|\*(?!\/)|\/(?!\*)|\/\*[\s\S]*?(?:\*\/|${END}))*(?:\*\/|${END}))`
const DOUBLE = String.raw`"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"?`
const SINGLE = String.raw`'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'?`
/** In PHP and Ruby they run over lines. */
const LONG_DOUBLE = DOUBLE.replaceAll(String.raw`\n`, '')
const LONG_SINGLE = SINGLE.replaceAll(String.raw`\n`, '')
const TRIPLE = String.raw`"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*(?:"""|${END})`
const RAW_TRIPLE = String.raw`"""[\s\S]*?(?:"""+|${END})`
/** One character: an apostrophe that closes nothing is none. */
const CHARACTER = String.raw`'(?:[^'\\\n]|\\[^\n][^'\n]{0,8})'`

/** Every alternative ends somewhere, so that no text makes it look twice at the same place. */
const TOKENS: Readonly<Record<SourceLanguage, RegExp>> = {
  python: tokens(
    String.raw`(?<comment>#[^\n]*)`,
    TRIPLE,
    TRIPLE.replaceAll('"', "'"),
    DOUBLE,
    SINGLE,
  ),
  ruby: tokens(
    String.raw`(?<comment>^=begin\b[\s\S]*?(?:^=end[^\n]*|${END})|^__END__\n[\s\S]*|(?<![^\s;)}\]])#[^\n]*)`,
    String.raw`<<[~-]?(?<quote>['"\x60]?)(?<word>[A-Z_]\w*)\k<quote>[^\n]*\n(?:[\s\S]*?^[ \t]*\k<word>$|[\s\S]*)`,
    String.raw`(?<![\w)\]])%[wWiIqQr]?(?:\[[^\]]*\]?|\([^)]*\)?|\{[^}]*\}?|\|[^|]*\|?)`,
    String.raw`(?<=[(,=~|&!{][ \t]*)\/(?! )[^\/\\\n]*(?:\\[^\n][^\/\\\n]*)*\/`,
    LONG_DOUBLE,
    LONG_SINGLE,
    String.raw`\x60[^\x60]*\x60?`,
  ),
  php: tokens(
    // what is outside of <?php is not code either
    String.raw`(?<comment>\?>[\s\S]*?(?:<\?(?:php\b|=)|${END})|(?:\/\/|#(?!\[))(?:(?!\?>)[^\n])*|\/\*[\s\S]*?(?:\*\/|${END}))`,
    String.raw`<<<[ \t]*(?<quote>['"]?)(?<word>[A-Za-z_]\w*)\k<quote>\n(?:[\s\S]*?^[ \t]*\k<word>\b|[\s\S]*)`,
    LONG_DOUBLE,
    LONG_SINGLE,
  ),
  java: tokens(SLASHES, TRIPLE, DOUBLE, CHARACTER),
  kotlin: tokens(NESTING, RAW_TRIPLE, DOUBLE, CHARACTER),
  groovy: tokens(SLASHES, TRIPLE, TRIPLE.replaceAll('"', "'"), DOUBLE, SINGLE),
  csharp: tokens(
    SLASHES,
    RAW_TRIPLE,
    String.raw`(?:@\$?|\$@)"[^"]*(?:""[^"]*)*"?`,
    DOUBLE,
    CHARACTER,
  ),
  go: tokens(SLASHES, String.raw`\x60[^\x60]*\x60?`, DOUBLE, CHARACTER),
}

function tokens(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join('|'), 'gm')
}

/** Without comments, but with what strings say. */
export function uncommented(
  text: string,
  language: SourceLanguage,
  string = (token: string) => token,
): string {
  return text.replace(TOKENS[language], (token: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as { readonly comment?: string }
    return groups.comment === undefined ? string(token) : blankAll(token)
  })
}

export function blank(text: string, language: SourceLanguage): string {
  if (language !== 'php') return uncommented(text, language, blankInside)
  const start = text.search(/<\?(?:php\b|=)/)
  if (start === -1) return blankAll(text)
  return uncommented(blankAll(text.slice(0, start)) + text.slice(start), language, blankInside)
}

const blankAll = (text: string) => text.replaceAll(/[^\n]/g, ' ')

/** The quotes stay, so that it can be seen where a string stands. */
function blankInside(token: string): string {
  const [opening = ''] = /^[@$]{0,2}(?:"""|'''|["'`])/.exec(token) ?? []
  const quotes = opening.replace(/^[@$]+/, '')
  const isClosed = token.length >= opening.length + quotes.length && token.endsWith(quotes)
  const closing = opening !== '' && isClosed ? quotes : ''
  return opening + blankAll(token.slice(opening.length, token.length - closing.length)) + closing
}
