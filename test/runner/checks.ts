/** What reads the code instead of running it: formatting, lint and types, beside the tests. */
import { spawn } from 'node:child_process'
import type { Report } from './report.ts'

export interface Check {
  readonly name: string
  readonly command: readonly string[]
}

export const CHECKS: readonly Check[] = [
  // types are what most of both is about, and here they are worked out once
  { name: 'lint and types', command: ['node_modules/.bin/oxlint'] },
  {
    name: 'formatting',
    command: [
      'node_modules/.bin/oxfmt',
      '--check',
      '{gateway,control-plane,shared,test,bench}/**/*.ts',
    ],
  },
]

export async function runCheck({ name, command }: Check, root: string, report: Report) {
  const [file = '', ...args] = command
  const child = spawn(file, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void said.push(text))
  const code = await new Promise((resolve) => child.once('close', resolve))
  report.check(name, code === 0, said.join('').split('\n'))
}
