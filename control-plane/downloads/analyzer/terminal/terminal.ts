/** The terminal as commands see it: what was asked for goes to standard output, all else beside it. */
import { createPaint, wantsColour } from './paint.ts'
import { createProgress } from './progress.ts'
import { ask, isYes } from '../../command-line/prompt.ts'
import { visibleText, wrap } from '../../command-line/words.ts'

export interface TerminalWorld {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

interface TerminalWishes {
  /** Standard output holds one JSON document and nothing else; nobody is asked anything. */
  readonly isJson: boolean
  readonly isQuiet: boolean
  readonly isColourless: boolean
  /** Every text on its way out. */
  readonly hiding: (text: string) => string
}

export type Terminal = ReturnType<typeof createTerminal>

const COLUMNS_UNKNOWN = 80

export function createTerminal(world: TerminalWorld, wishes: TerminalWishes) {
  const { environment, stdin, stdout, stderr } = world
  const { isJson, isQuiet, isColourless, hiding } = wishes
  const isTerminal = (stream: { isTTY?: boolean }) => stream.isTTY === true
  const isLive = isTerminal(stderr) && environment['TERM'] !== 'dumb'
  const colour = { environment, isRefused: isColourless }
  const progress = createProgress({
    output: stderr,
    environment,
    kind: isQuiet ? 'off' : isLive ? 'live' : 'lines',
  })
  const columns = () => stdout.columns || COLUMNS_UNKNOWN
  const question = (text: string, isHidden: boolean) => ask(stdin, stderr, text, isHidden)

  const paintBeside = createPaint(wantsColour({ ...colour, isTerminal: isTerminal(stderr) }))
  const write = (text: string) =>
    progress.aside(() => void stderr.write(`${hiding(wrap(text, columns()))}\n`))
  const remark = (text: string) => write(visibleText(text))

  return {
    get columns(): number {
      return columns()
    },
    /** Somebody is there to be asked. */
    isInteractive: !isJson && isTerminal(stdin) && isTerminal(stderr),
    paint: createPaint(wantsColour({ ...colour, isTerminal: isTerminal(stdout) })),
    /** On standard output, as it stands. */
    print: (text: string) => progress.aside(() => void stdout.write(`${hiding(text)}\n`)),
    /** On standard error, in lines that fit. */
    remark,
    /** What is wrong, and below it what to do. */
    complain(problem: string, advice: readonly string[]) {
      write(paintBeside('red', visibleText(problem)))
      for (const line of advice) remark(line)
    },
    during: progress.during,
    /** False unless the answer is «yes». */
    confirm: async (text: string) => isYes(await question(`${text} [y/N] `, false)),
    askSecret: (text: string) => question(`${text} `, true),
    /** Of so many, counted from 0; null: none of them. */
    async choose(text: string, count: number): Promise<number | null> {
      const answer = (await question(`${text} [1-${count}] `, false)).trim()
      const number = /^\d{1,4}$/.test(answer) ? Number(answer) : 0
      return number >= 1 && number <= count ? number - 1 : null
    },
  }
}
