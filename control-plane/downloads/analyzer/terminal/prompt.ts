/** Questions to the person at the terminal: on standard error, so that answers can be piped away. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { interrupted } from '../exit.ts'

interface Question {
  readonly text: string
  /** A secret: nothing of it is shown, not even how long it is. */
  readonly isHidden: boolean
}

interface PromptStreams {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
}

/** One line. Ctrl-C and the end of the input end the program; the terminal is as it was before. */
export function ask({ input, output }: PromptStreams, question: Question): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input,
    output: question.isHidden ? nowhere : output,
    terminal: true, // keys are read one by one, and the line can be edited
    historySize: 0,
  })
  if (question.isHidden) output.write(question.text)
  else lines.setPrompt(question.text)
  return new Promise((resolve, reject) => {
    let answer: string | undefined
    lines.once('line', (line) => {
      answer = line
      lines.close()
    })
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => {
      if (question.isHidden || answer === undefined) output.write('\n')
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
