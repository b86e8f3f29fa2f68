/** A machine that systemd runs: what may become a service there, and what a unit can be given. */
import { realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { visibleText } from '../command-line/words.ts'
import type { Environment } from '../command-line/base-url.ts'
import { Problem } from '../command-line/exit.ts'

export interface ServiceMachine {
  /** `/`, but in tests. */
  readonly root: string
  readonly userId: number | undefined
  readonly platform: string
}

interface Ours {
  /** As it is typed. */
  readonly run: string
  readonly install: string
}

/** Throws where this machine or this user cannot have it. */
export async function checkService(world: ServiceMachine, { run, install }: Ours): Promise<void> {
  const { platform, root, userId } = world
  if (platform !== 'linux' || !(await isThere(join(root, 'run/systemd/system'))))
    throw new Problem(
      'systemd_missing',
      'systemd does not run this machine, so there is no service to install.',
      platform === 'win32'
        ? 'On Windows use a scheduled task: the README of this program has the commands.'
        : `Start "${run}" from whatever runs services here; it stays in the foreground.`,
    )
  if (userId !== 0)
    throw new Problem(
      'root_needed',
      'A service of this machine is installed and removed by root.',
      `Run it with sudo. To see what would be installed: ${install} --print`,
    )
}

/** The service has no home folder to look into, and is of a user that owns nothing. */
export async function usableNode(file: string): Promise<string> {
  const node = await realpath(file)
  let path = node
  let isOpen = !/^\/(?:home|root|run\/user)\//.test(node)
  while (isOpen && path !== '/') {
    isOpen = ((await stat(path)).mode & 0o001) !== 0
    path = dirname(path)
  }
  if (isOpen) return checkPath(node)
  throw new Problem(
    'node_private',
    `Node is at ${visibleText(node)}, where a service cannot use it: it belongs to one user.`,
    'Install Node 20 or later for the whole machine (from your distribution or nodejs.org), and run this with that one.',
  )
}

/** What a unit says of the environment; everybody may read it, so a proxy with a password stays out of it. */
export function unitEnvironment(environment: Environment) {
  const proxy = proxyOf(environment)
  const isSecret = proxy !== undefined && /\/\/[^/@]+@/.test(proxy)
  return {
    environment: {
      ...(!isSecret && proxy !== undefined && { HTTPS_PROXY: proxy }),
      ...given(environment, 'NO_PROXY'),
      ...given(environment, 'SERVICE_BASE_URL'),
      ...given(environment, 'NODE_EXTRA_CA_CERTS'),
    },
    secretProxy: isSecret ? proxy : undefined,
  }
}

/** What would have to be quoted in a unit in ways that differ from line to line. */
export function checkPath(path: string): string {
  if (/^\/[\w@%+=:,./-]*$/.test(path) && !path.includes(':')) return path
  throw new Problem(
    'option_invalid',
    `${visibleText(path)} cannot stand in a unit: use a path of letters, digits, dots and dashes.`,
  )
}

function proxyOf(environment: Environment): string | undefined {
  for (const name of ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']) {
    const text = environment[name]?.trim() ?? ''
    if (text !== '') return text
  }
  return undefined
}

function given(environment: Environment, name: string): Record<string, string> {
  const text = (environment[name] ?? environment[name.toLowerCase()])?.trim() ?? ''
  return text === '' ? {} : { [name]: text }
}

export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
