/** Long work: a line that is drawn over at a terminal, a few quiet lines anywhere else. */
import { cutToColumns, plainText } from '../../command-line/words.ts'

type Tell = (detail: string) => void

interface ProgressWorld {
  readonly output: NodeJS.WriteStream
  /** live: a terminal; lines: a log; off: nobody wants to know. */
  readonly kind: 'live' | 'lines' | 'off'
  readonly environment: Readonly<Record<string, string | undefined>>
}

const FRAME_MS = 80
const FRAMES_UNICODE = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏']
const FRAMES_ASCII = [...'|/-\\']
const ERASE_LINE = '\r\u001b[2K'

export function createProgress({ output, kind, environment }: ProgressWorld) {
  const frames = isUnicode(environment) ? FRAMES_UNICODE : FRAMES_ASCII
  let line: string | null = null
  let frameIndex = 0

  function draw() {
    if (line === null) return
    const frame = frames[frameIndex % frames.length] ?? ''
    const columns = (output.columns ?? 0) || 80
    output.write(`${ERASE_LINE}${cutToColumns(`${frame} ${line}`, columns - 1)}`)
  }

  return {
    /** Shows the label as long as the work takes. */
    async during<T>(label: string, work: (tell: Tell) => Promise<T>): Promise<T> {
      if (kind === 'off') return work(() => undefined)
      if (kind === 'lines') {
        output.write(`${label} …\n`)
        return work(() => undefined)
      }
      line = `${label} …`
      draw()
      const timer = setInterval(() => {
        frameIndex++
        draw()
      }, FRAME_MS)
      try {
        return await work((detail) => (line = `${label} … ${plainText(detail)}`))
      } finally {
        clearInterval(timer)
        line = null
        output.write(ERASE_LINE)
      }
    },
    /** Takes the line away while something else is written or asked. */
    aside<T>(work: () => T): T {
      if (line !== null) output.write(ERASE_LINE)
      const result = work()
      draw()
      return result
    },
  }
}

function isUnicode(environment: ProgressWorld['environment']): boolean {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || ''
  return environment['TERM'] !== 'linux' && /utf-?8/i.test(locale)
}
