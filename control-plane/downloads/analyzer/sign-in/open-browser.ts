/** Opens a page of the service in the browser of whoever sits here, and never by a shell. */
import { spawn } from 'node:child_process'
import type { Environment } from '../../command-line/base-url.ts'

/** null: there is no screen here, or nobody knows how it is done. */
export function browserCall(
  url: string,
  platform: NodeJS.Platform,
  environment: Environment,
): readonly [program: string, ...args: readonly string[]] | null {
  const isSet = (name: string) => (environment[name] ?? '') !== ''
  if (platform === 'darwin') return isSet('SSH_CONNECTION') ? null : ['open', url]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url]
  const hasScreen = isSet('DISPLAY') || isSet('WAYLAND_DISPLAY')
  return hasScreen ? ['xdg-open', url] : null
}

/** Whether it was tried: what comes of it is seen on the screen alone. */
export function openInBrowser(
  url: string,
  platform: NodeJS.Platform,
  environment: Environment,
): boolean {
  const call = browserCall(url, platform, environment)
  if (call === null) return false
  const { SERVICE_ANALYZER_KEY: _key, ...kept } = environment
  const [program, ...args] = call
  const child = spawn(program, args, { env: kept, stdio: 'ignore', detached: true })
  child.once('error', () => undefined) // the address is on the screen as well
  child.unref()
  return true
}
