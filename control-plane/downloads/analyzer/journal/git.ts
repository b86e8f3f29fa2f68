/**
 * Asks git whether a work tree has changes, so that what is written can be told from what a person
 * did. A repository's own configuration can name programs that a mere `git status` runs: none of
 * them does here.
 */
import { execFile } from 'node:child_process'
import { devNull } from 'node:os'
import { dirname } from 'node:path'
import { LIMITS } from '../../../../shared/limits.ts'

export interface GitAnswer {
  /** null: git is not there, or was stopped. */
  readonly code: number | null
  readonly out: string
  readonly err: string
  readonly isCut: boolean
}

export type Git = ReturnType<typeof createGit>

/**
 * Nothing else of the environment reaches git: GIT_DIR, GIT_EXTERNAL_DIFF and their kin stay out.
 * SUDO_UID tells it that the owner of a repository is who asked.
 */
const KEPT = [
  'PATH',
  'Path',
  'HOME',
  'USERPROFILE',
  'SUDO_UID',
  'XDG_CONFIG_HOME',
  'SystemRoot',
  'TEMP',
  'TMP',
]

const ALWAYS = {
  LC_ALL: 'C',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  // what a repository says itself of these does not count, and an old git knows only the second
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_PAGER: 'cat',
  NoDefaultCurrentDirectoryInExePath: '1',
}

export function createGit(environment: Readonly<Record<string, string | undefined>>) {
  const kept = Object.fromEntries(
    KEPT.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  )
  // not in the project: Windows looks for git.exe in the folder that it is started in
  const cwd = dirname(process.execPath)
  const run = (args: readonly string[], env: Record<string, string | undefined>) =>
    new Promise<GitAnswer>((resolve) => {
      const options = {
        cwd,
        env,
        timeout: LIMITS.gitMsMax,
        maxBuffer: LIMITS.gitAnswerBytesMax,
        killSignal: 'SIGKILL',
        windowsHide: true,
      } as const
      execFile('git', args, options, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null
        const isCut = error?.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
        resolve({ code, out, err, isCut })
      })
    })
  return {
    /** With a person's own settings: nothing but `config` is asked like this. */
    settings: (root: string) =>
      run(['-C', root, 'config', '--null', '--list'], { ...kept, ...ALWAYS }),
    /** With `settings` and no others. */
    ask(root: string, settings: readonly string[], args: readonly string[]) {
      const isolated = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull, HOME: devNull }
      const given = settings.flatMap((setting) => ['-c', setting])
      const env = { ...kept, ...ALWAYS, ...isolated, XDG_CONFIG_HOME: devNull }
      return run(['--no-pager', '--literal-pathspecs', ...given, '-C', root, ...args], env)
    },
  }
}
