/** A port that settings in the code give by itself, where what makes it listen was not followed. */
import { clue, type Clue } from '../assemble.ts'
import { isCustomaryElsewhere, isForeignName } from '../node/foreign-ports.ts'
import { placeAt, type Source } from '../source/source.ts'

/** `DEFAULT_PORT = 8083`, `Port = 9117;`, `'port': Setting(int, 8888)`: a whole name, and a number that is code. */
const SETS =
  /(?<![\w.])(?:(?:default|server|listen|http|web|app|bind)_?)*port(?:_default)?["']?\]?[ \t]*(?::[^=,\n]{0,30}=|[:=])(?!=)[^\n#]{0,60}?(?<![\w.])(\d{4,5})\b/gi

/** Only one that nothing else in the program disagrees with. */
export function configuredPort(sources: readonly Source[]): Clue<number> | null {
  const found = sources.flatMap((source) =>
    isForeignName(source.path.split('/').at(-1) ?? '')
      ? []
      : [...source.text.matchAll(SETS)].flatMap((match) => {
          const [whole, digits = ''] = match
          const at = match.index + whole.length - digits.length
          const isCode = source.code.startsWith(digits, at)
          const port = Number(digits)
          return isCode && port < 65_536 && !isForeignName(whole) && !isCustomaryElsewhere(port)
            ? [{ port, at: placeAt(source, match.index) }]
            : []
        }),
  )
  const [first] = found
  if (first === undefined || found.some(({ port }) => port !== first.port)) return null
  return clue(first.port, first.at, 'likely', 'The settings in the code say so.')
}
