/** What a container runs, by its Dockerfile. */
import { logicalLines } from '../deployment.ts'
import { listIn, parsedJson } from './manifest.ts'

/** ENTRYPOINT and CMD of the last stage, as one line of a shell. */
export function dockerCommands(text: string): { command: string; line: number }[] {
  let entrypoint: string | null = null
  let command: { text: string; line: number } | null = null
  for (const { line, text: whole } of logicalLines(text)) {
    const [, instruction = '', rest = ''] = /^\s*(FROM|CMD|ENTRYPOINT)\s+(.*)$/i.exec(whole) ?? []
    const said = execForm(rest)
    if (/^from$/i.test(instruction)) entrypoint = command = null
    else if (/^cmd$/i.test(instruction)) command = { text: said, line }
    else if (/^entrypoint$/i.test(instruction)) {
      entrypoint = said
      command ??= { text: '', line }
    }
  }
  return command === null
    ? []
    : [{ command: `${entrypoint ?? ''} ${command.text}`, line: command.line }]
}

function execForm(rest: string): string {
  const words = listIn(parsedJson(rest.trim()))
  return words.length === 0
    ? rest
    : words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')
}
