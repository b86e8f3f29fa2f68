/** What stands in `deploy`, and what the programs make of its settings and secrets. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseConfig } from '../../shared/config/config.ts'
import { withSecretFiles } from '../../shared/config/secret-files.ts'

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url))
/** The one folder that a container may write to. */
export const VOLUME = '/var/lib/sign-in-protection'
/** Where it finds its settings. */
export const SETTINGS = '/etc/sign-in-protection'

export const PROGRAMS = ['control-plane', 'gateway'] as const
export type ProgramName = (typeof PROGRAMS)[number]

export const deployAt = (...path: string[]) => join(DEPLOY, ...path)
export const readDeploy = (...path: string[]) => readFileSync(deployAt(...path), 'utf8')

/** With these settings. */
export function listensAt(program: ProgramName, text: string) {
  const { control_plane: controlPlane, gateway } = parseConfig(text, program)
  return program === 'control-plane'
    ? [controlPlane.listen, controlPlane.fleet_listen]
    : [gateway.listen, gateway.tls_listen, gateway.status_listen].filter((one) => one !== null)
}

/** Which secret each variable reads; one that no program knows would be read by nobody. */
export function secretFilesOf(variables: Readonly<Record<string, string>>): string[] {
  const paths: string[] = []
  withSecretFiles(variables, (path) => String(paths.push(path)))
  const names = Object.keys(variables)
  if (paths.length !== names.length) throw new Error(`not all are known: ${names.join()}`)
  return paths
}
