/** Programs of this machine: with words of ours alone, within a time, and without a shell. */
import { execFile } from 'node:child_process'

export interface Ended {
  /** null: there is no such program. */
  readonly code: number | null
  readonly out: Buffer
  readonly err: string
}

export type RunTool = (
  file: string,
  args: readonly string[],
  options: { readonly folder: string },
) => Promise<Ended>

const ANSWER_MS_MAX = 20_000
const BYTES_MAX = 64 * 1024

export const createRunTool =
  (environment: Readonly<Record<string, string | undefined>>): RunTool =>
  (file, args, { folder }) =>
    new Promise((resolve) => {
      const options = {
        cwd: folder,
        env: {
          LC_ALL: 'C',
          PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          // which TPM the tools talk to, where that is not the machine's own
          ...named(environment, 'TPM2TOOLS_TCTI'),
        },
        timeout: ANSWER_MS_MAX,
        killSignal: 'SIGKILL' as const,
        maxBuffer: BYTES_MAX,
        encoding: 'buffer' as const,
      }
      execFile(file, [...args], options, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined
        const isMissing = (error as NodeJS.ErrnoException | null)?.code === 'ENOENT'
        resolve({ code: isMissing ? null : (code ?? 1), out, err: err.toString('utf8') })
      })
    })

const named = (environment: Readonly<Record<string, string | undefined>>, name: string) => {
  const value = environment[name]
  return value === undefined ? {} : { [name]: value }
}
