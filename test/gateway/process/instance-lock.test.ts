import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { lockInstance } from '../../../gateway/process/instance-lock.ts'
import { temporaryFolder, until } from '../../support/fleet.ts'

const MODULE = fileURLToPath(new URL('../../../gateway/process/instance-lock.ts', import.meta.url))
const HOLDER = `
  const { lockInstance } = await import(process.argv[1])
  lockInstance(process.argv[2], 'edge-1')
  process.stdout.write(process.pid + '\\n')
  setInterval(() => {}, 1_000_000)`

/** A process with the lock, whose parent waits for nobody: once it is dead, it stays a zombie. */
async function holderOf(t: Test, folder: string): Promise<number> {
  const script = `"$0" --input-type=module -e "$1" "$2" "$3" & exec sleep 1000`
  const parent = spawn('sh', ['-c', script, process.execPath, HOLDER, MODULE, folder])
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  t.teardown(() => {
    if (stateOf(pid) !== 'Z') process.kill(pid, 'SIGKILL')
    parent.kill('SIGKILL')
  })
  return pid
}

const fieldsOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1] ?? ''
const stateOf = (pid: number) => fieldsOf(pid).split(' ')[0]

t.test('a gateway that runs keeps its folder to itself', async (t) => {
  const folder = temporaryFolder(t)
  const pid = await holderOf(t, folder)
  t.throws(() => lockInstance(folder, 'edge-1'), {
    name: 'ConfigError',
    message: `gateway.id: gateway "edge-1" is already running as process ${pid}; give this one a different id or data_dir`,
  })
})

t.test('a killed gateway that nobody has reaped yet is nobody', async (t) => {
  const folder = temporaryFolder(t)
  const pid = await holderOf(t, folder)
  process.kill(pid, 'SIGKILL')
  await until(() => stateOf(pid) === 'Z')
  t.doesNotThrow(() => process.kill(pid, 0), 'the number is still taken')

  const unlock = lockInstance(folder, 'edge-1')
  t.match(readFileSync(`${folder}/lock`, 'utf8'), new RegExp(`^${process.pid} \\d+$`))
  unlock()
})

t.test('the number of a gateway that is gone may be another process by now', async (t) => {
  const folder = temporaryFolder(t)
  const pid = await holderOf(t, folder)
  const started = Number(fieldsOf(pid).split(' ')[19])
  writeFileSync(`${folder}/lock`, `${pid} ${started - 1}`)
  t.doesNotThrow(() => lockInstance(folder, 'edge-1')())
})

const STARTER = `
  import { lockInstance } from ${JSON.stringify(MODULE)}
  process.on('message', (folder) => {
    let isIn = true
    try { lockInstance(folder, 'edge-1') } catch { isIn = false }
    process.send(isIn)
  })
  process.send(true)`

t.test('of several that start at once beside a stale lock, one gets the folder', async (t) => {
  const folder = temporaryFolder(t)
  const program = `${folder}/starter.mjs`
  writeFileSync(program, STARTER)
  const starters = Array.from({ length: 3 }, () => fork(program))
  t.teardown(() => starters.forEach((starter) => starter.kill('SIGKILL')))
  const answers = () => Promise.all(starters.map((starter) => once(starter, 'message')))
  await answers()
  for (let round = 0; round < 30; round++) {
    const shared = `${folder}/${round}`
    mkdirSync(shared)
    writeFileSync(`${shared}/lock`, '999999999 1')
    const answered = answers()
    for (const starter of starters) starter.send(shared)
    t.equal((await answered).filter(([isIn]) => isIn === true).length, 1)
    t.strictSame(readdirSync(shared), ['lock'])
  }
})
