/** This machine: Node, where the program is, and which service it asks through what. */
import { access, realpath } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { VERSION } from '../../../../../shared/version.ts'
import { proxyState } from '../../network-problem.ts'
import { quoted } from '../../profile.ts'
import { visibleText } from '../../../command-line/words.ts'
import type { Task } from '../command.ts'
import { fail, failed, ok, skip, warn, type Finding } from './finding.ts'

const NODE_MAJOR_MIN = 20

export async function examineMachine(task: Task): Promise<Finding[]> {
  return [node(task), await program(task), ...address(task)]
}

function node({ world: { nodeVersion } }: Task): Finding {
  const isOld = Number(nodeVersion.split('.')[0]) < NODE_MAJOR_MIN
  return isOld
    ? fail(
        'node',
        `This is Node ${nodeVersion}.`,
        `Install Node ${NODE_MAJOR_MIN} or later from https://nodejs.org`,
      )
    : ok('node', `Node ${nodeVersion}`)
}

/** Another one on the PATH is what somebody gets who types the name. */
async function program({ world }: Task): Promise<Finding> {
  const running = await realpath(world.programFile).catch(() => world.programFile)
  const said = `service-analyzer ${VERSION} at ${visibleText(running)}`
  for (const folder of (world.environment['PATH'] ?? '').split(delimiter)) {
    const named = join(folder, 'service-analyzer')
    const found = await access(named).then(
      () => realpath(named),
      () => null,
    )
    if (folder === '' || found === null) continue
    if (found === running) return ok('program', said)
    return warn(
      'program',
      `${said}, but typing service-analyzer runs ${visibleText(found)}.`,
      `Remove the other one, or put ${visibleText(dirname(running))} first on the PATH.`,
    )
  }
  return warn(
    'program',
    `${said}, which is not on the PATH.`,
    `Run: export PATH=${quoted(dirname(running))}:"$PATH"`,
  )
}

function address(task: Task): Finding[] {
  const { environment, nodeVersion } = task.world
  try {
    const { text, from, isOpen } = task.access.baseUrl()
    const said = `${text} (${from === 'installation' ? 'from the installation' : from})`
    const proxy = proxyState({ baseUrl: text, environment, nodeVersion })
    return [
      isOpen
        ? warn(
            'base_url',
            `${said} is not encrypted, so the key could be intercepted.`,
            'Use an https:// address.',
          )
        : ok('base_url', said),
      proxy === null
        ? skip('proxy', 'No proxy is set.')
        : proxy.isUsed
          ? ok('proxy', `${proxy.variable} is used.`)
          : warn(
              'proxy',
              `${proxy.variable} is set, but this Node.js does not use it.`,
              proxy.switch === ''
                ? 'If you need it to reach the service: install Node 24 or later, and set NODE_USE_ENV_PROXY=1'
                : `If you need it to reach the service: ${proxy.switch}`,
            ),
    ]
  } catch (error) {
    return [failed('base_url', error)]
  }
}
