/**
 * Code as a list of words, texts and signs, without comments: enough to say that nothing was lost.
 * It knows no grammar, so that it reads every language alike; where it misreads (a regular
 * expression with a quote in it), it misreads both sides alike, up to the end of the line.
 */

const HASH_COMMENTS = /\.(?:py|rb|ru|php|ya?ml|toml|rake|gemspec|ex|exs)$/i
const SLASH_COMMENTS =
  /\.(?:[cm]?[jt]sx?|php|java|kts?|scala|groovy|cs|fs|go|rs|swift|vue|svelte|s?css)$/i
const MARKUP_COMMENTS = /\.(?:html?|vue|svelte|xml|erb|cshtml)$/i

export function codeTokens(text: string, path: string): string[] {
  const kinds = [
    ...(SLASH_COMMENTS.test(path) ? [String.raw`(?<skip>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))`] : []),
    ...(HASH_COMMENTS.test(path) ? [String.raw`(?<hash>#[^\n]*)`] : []),
    ...(MARKUP_COMMENTS.test(path) ? [String.raw`(?<markup><!--[\s\S]*?(?:-->|$))`] : []),
    String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)`,
    String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`,
    // what stands in a template's braces is code, but it comes and goes with the template
    '`(?:\\\\[\\s\\S]|[^`\\\\])*`?',
    String.raw`[\p{L}\p{N}_$@]+|\S`,
  ]
  const pattern = new RegExp(kinds.join('|'), 'gu')
  return [...text.matchAll(pattern)].flatMap(({ 0: token, groups = {} }) =>
    Object.values(groups).some((comment) => comment !== undefined) ? [] : [token],
  )
}
