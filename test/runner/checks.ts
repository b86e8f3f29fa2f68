/** What reads the code instead of running it: formatting, lint and types, beside the tests. */
import { spawn } from 'node:child_process'
import type { Report } from './report.ts'

export interface Check {
  readonly name: string
  /** A script of package.json. */
  readonly script: string
}

export const CHECKS: readonly Check[] = [
  { name: 'lint', script: 'lint' },
  { name: 'types', script: 'types' },
]

export async function runCheck({ name, script }: Check, root: string, report: Report) {
  const child = spawn('npm', ['run', '--silent', script], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void said.push(text))
  const code = await new Promise((resolve) => child.once('close', resolve))
  report.check(name, code === 0, said.join('').split('\n'))
}
