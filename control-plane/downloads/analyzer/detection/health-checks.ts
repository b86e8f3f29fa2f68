/** What images and compose files ask an application for, to see that it is well. */
import type { Project } from '../project/project.ts'
import type { Application, Place } from './application.ts'
import { finding } from './assemble.ts'
import { checksIn } from './compose.ts'
import { FOR_DEVELOPERS } from './deployment.ts'
import { isAside } from './folders.ts'
import { imageIn, substituted } from './image.ts'
import { healthAsked, logicalLines, portAsked, type StartCommand } from './start-commands.ts'

export interface Check {
  readonly port: number
  readonly path: string
  readonly at: Place
}

const COMPOSE = /(?:^|\/)(?:docker-)?compose(?:[.-]\w+)?\.ya?ml$/i
/** Images, and scripts that they run to ask. */
const OTHERS =
  /(?:^|\/)(?:(?:[\w-]+\.)?(?:Docker|Container)file(?:\.\w+)?|[\w-]*health[\w-]*\.sh)$/i
const ASKS = /\b(?:curl|wget|healthcheck)\b/i
const FILES_MAX = 20

/** Where the code of one does not say it: the check that asks at its port, and at no other's. */
export function withHealthChecks(
  checks: readonly Check[],
  applications: readonly Application[],
): Application[] {
  const seen = new Set<number>()
  return applications.map((application) => {
    const { port, healthPath, findings } = application
    if (port === null || seen.has(port)) return application
    seen.add(port)
    const check = checks.find((one) => one.port === port)
    if (check === undefined || healthPath !== null) return application
    const said = `A health check of its image or its compose file asks for ${check.path}.`
    return {
      ...application,
      healthPath: check.path,
      findings: [...findings, finding('health', check.path, check.at, 'likely', said)],
    }
  })
}

export async function checksOf({ files, read }: Project): Promise<Check[]> {
  const depth = (path: string) => path.split('/').length
  const paths = files
    .map(({ path }) => path)
    .filter((path) => COMPOSE.test(path) || OTHERS.test(path))
    .filter((path) => !isAside(path) && !FOR_DEVELOPERS.test(path))
    .sort((a, b) => depth(a) - depth(b))
  const asked: StartCommand[] = []
  for (const path of paths.slice(0, FILES_MAX)) {
    const text = (await read(path)) ?? ''
    asked.push(...(COMPOSE.test(path) ? checksIn(text, path) : askedIn(text, path)))
  }
  return asked.flatMap(({ text, at }) => {
    const [path, port] = [healthAsked(text, at)?.value, portAsked(text, at)?.value]
    return path === undefined || port === undefined ? [] : [{ port, path, at }]
  })
}

function askedIn(text: string, path: string): StartCommand[] {
  const { values } = imageIn(text, path)
  return logicalLines(text)
    .filter(({ text }) => ASKS.test(text))
    .map(({ line, text }) => ({ text: substituted(text, values), at: { path, line } }))
}
