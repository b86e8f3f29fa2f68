/** Questions to the person at the terminal: on standard error, so that answers can be piped away. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { interrupted } from './exit.ts'

/**
 * One line. Ctrl-C and the end of the input end the program; the terminal is as it was before.
 * `isHidden`: a secret, of which nothing is shown, not even how long it is.
 */
export function ask(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  text: string,
  isHidden: boolean,
): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input,
    output: isHidden ? nowhere : output,
    terminal: true, // keys are read one by one, and the line can be edited
    historySize: 0,
  })
  if (isHidden) output.write(text)
  else lines.setPrompt(text)
  return new Promise((resolve, reject) => {
    let answer: string | undefined
    lines.once('line', (line) => {
      answer = line
      lines.close()
    })
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => {
      if (isHidden || answer === undefined) output.write('\n')
      if (answer === undefined) reject(interrupted())
      else resolve(answer)
    })
    lines.prompt()
  })
}

/** «No» unless it is clearly «yes». */
export function isYes(answer: string): boolean {
  return /^y(?:es)?$/i.test(answer.trim())
}
