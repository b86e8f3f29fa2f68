/** How git is asked: with a bound on its answer, and from where no program of a project lies. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createGit } from '../../../../../control-plane/downloads/analyzer/journal/git.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'

void t.test('an answer has a limit, and one beyond it is known to be cut', async (t) => {
  const folder = temporaryFolder(t)
  const answering = (bytes: number) =>
    writeFileSync(join(folder, 'git'), `#!/bin/sh\nhead -c ${bytes} /dev/zero\n`, { mode: 0o755 })
  const git = createGit({ PATH: `${folder}:${process.env['PATH']}` })
  answering(LIMITS.gitAnswerBytesMax)
  const whole = await git.ask(folder, [], [])
  t.match(whole, { code: 0, isCut: false })
  t.equal(whole.out.length, LIMITS.gitAnswerBytesMax)
  answering(LIMITS.gitAnswerBytesMax + 1)
  t.match(await git.ask(folder, [], []), { code: null, isCut: true })
})

void t.test(
  'git is started outside the project, with nothing more of the environment than it needs',
  async (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'git'), '#!/bin/sh\npwd\nenv\n', { mode: 0o755 })
    const git = createGit({
      PATH: `${folder}:${process.env['PATH']}`,
      HOME: '/home/ada',
      SERVICE_ANALYZER_KEY: 'sak_of_ada',
      GIT_SSH_COMMAND: 'evil_command',
      GIT_EXTERNAL_DIFF: 'evil_command',
      LD_PRELOAD: 'evil_command',
    })
    for (const { out } of [await git.ask(folder, [], []), await git.settings(folder)]) {
      t.notMatch(out, /sak_of_ada|evil_command/)
      t.not(out.split('\n')[0], folder)
      t.match(out, 'GIT_OPTIONAL_LOCKS=0')
    }
    t.match((await git.settings(folder)).out, 'HOME=/home/ada', 'a person’s own settings are read')
    t.notMatch((await git.ask(folder, [], [])).out, '/home/ada', 'and kept from everything else')
  },
)

void t.test('without git the answer has no code', async (t) => {
  const git = createGit({ PATH: temporaryFolder(t) })
  t.match(await git.settings('/'), { code: null })
})
