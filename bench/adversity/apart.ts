/**
 * Real attackers bring machines of their own; here they would take the gateway's turn at the
 * processor, and a figure would tell more of the scheduler than of the gateway.
 */
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The worker has the first core for itself; we, and whoever we start from here on, the others. */
export function keepApart(worker: number): void {
  const cores = availableParallelism()
  const onCores = (list: string, pid: number) =>
    execFileSync('taskset', ['-acp', list, `${pid}`], { stdio: 'ignore' })
  try {
    if (cores < 2) throw new Error('there is one core')
    onCores('0', worker)
    onCores(`1-${cores - 1}`, process.pid)
  } catch (error) {
    console.log(`  all on the same cores: ${(error as Error).message.split('\n')[0]}`)
  }
}
