/** Nobody reads what a gateway says, or nobody can any more: it stops all the same. */
import { execFileSync, fork, type ChildProcess } from 'node:child_process'
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/fleet.ts'
import { freePort } from '../support/ports.ts'
import { SECRETS } from '../support/programs.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

async function startGateway(t: Test, stdout: number | 'pipe'): Promise<ChildProcess> {
  const folder = temporaryFolder(t)
  const file = join(folder, 'config.yaml')
  writeFileSync(
    file,
    `data_dir: ${folder}/data
gateway: { listen: "127.0.0.1:${await freePort()}", id: unread, workers: 1, control_plane: "http://127.0.0.1:1" }
`,
  )
  const program = fork(join(ROOT, 'gateway/main.ts'), ['--config', file], {
    cwd: ROOT,
    env: { ...process.env, ...SECRETS },
    stdio: ['ignore', stdout, 'inherit', 'ipc'],
    execArgv: [],
  })
  t.teardown(() => program.kill('SIGKILL'))
  await new Promise((resolve) => program.once('message', resolve))
  return program
}

const exitOf = async (program: ChildProcess) => {
  const exited = new Promise((resolve) => program.once('exit', resolve))
  program.kill('SIGTERM')
  return exited
}

t.test('a pipe that is full, and whose reader stands still', async (t) => {
  const path = join(temporaryFolder(t), 'output')
  execFileSync('mkfifo', [path])
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  t.teardown(() => closeSync(pipe))
  const line = `${'x'.repeat(1023)}\n`
  t.throws(
    () => {
      for (;;) writeSync(pipe, line)
    },
    { code: 'EAGAIN' },
  )
  t.equal(await exitOf(await startGateway(t, pipe)), 0)
})

t.test('a pipe whose reader is gone', async (t) => {
  const program = await startGateway(t, 'pipe')
  program.stdout!.destroy()
  t.equal(await exitOf(program), 0)
})
