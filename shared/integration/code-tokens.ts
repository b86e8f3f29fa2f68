/**
 * Code as a list of words, texts and signs, without comments: enough to say that nothing was lost.
 * It knows no grammar, so that it reads every language alike; where it misreads (a regular
 * expression with a quote in it), it misreads both sides alike, up to the end of the line.
 */

const HASH_COMMENTS = /\.(?:py|rb|ru|php|ya?ml|toml|rake|gemspec|ex|exs)$/i
const SLASH_COMMENTS =
  /\.(?:[cm]?[jt]sx?|php|java|kts?|scala|groovy|cs|fs|go|rs|swift|vue|svelte|s?css)$/i
const MARKUP_COMMENTS = /\.(?:html?|vue|svelte|xml|erb|cshtml)$/i

const COMMENTS = [
  { files: SLASH_COMMENTS, kinds: [String.raw`\/\/[^\n]*`, String.raw`\/\*[\s\S]*?(?:\*\/|$)`] },
  { files: HASH_COMMENTS, kinds: [String.raw`#[^\n]*`] },
  { files: MARKUP_COMMENTS, kinds: [String.raw`<!--[\s\S]*?(?:-->|$)`] },
]

export function codeTokens(text: string, path: string): string[] {
  const comments = COMMENTS.filter(({ files }) => files.test(path)).flatMap(({ kinds }) => kinds)
  const kinds = [
    ...comments,
    String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)`,
    String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`,
    // what stands in a template's braces is code, but it comes and goes with the template
    '`(?:\\\\[\\s\\S]|[^`\\\\])*`?',
    String.raw`[\p{L}\p{N}_$@]+|\S`,
  ]
  // without groups: a group for each token makes this twenty times slower
  const tokens = text.match(new RegExp(kinds.join('|'), 'gu')) ?? []
  const isComment = new RegExp(`^(?:${comments.join('|') || '$'})`)
  return tokens.filter((token) => !isComment.test(token))
}
