/** Small projects on the disk, and what is planned for them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { Application } from '../../../../../control-plane/downloads/analyzer/detection/application.ts'
import { planFor } from '../../../../../control-plane/downloads/analyzer/edits/plan-for.ts'
import type { Wishes } from '../../../../../control-plane/downloads/analyzer/edits/wishes.ts'
import type { Plan } from '../../../../../control-plane/downloads/analyzer/plan.ts'
import { openProject } from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'

export const PEM = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo
-----END PUBLIC KEY-----
`

export const WISHES: Wishes = {
  mode: 'gateway',
  baseUrl: 'https://service.example.test',
  tenantId: null,
  publicKeyPem: PEM,
  sdkUrl: 'https://service.example.test/api/v1/sdk/node',
}

export type Files = Readonly<Record<string, string>>

export const EXPRESS: Application = {
  folder: '',
  framework: 'express',
  variant: '^5.0.0',
  language: 'javascript',
  packageManager: 'npm',
  modules: 'esm',
  entry: { path: 'server.js', line: 1 },
  mount: { path: 'server.js', line: 2 },
  healthPath: null,
  port: 3000,
  signIn: [],
  integrated: null,
  confidence: 'sure',
  findings: [],
}

export function write(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

export interface Planned {
  readonly folder: string
  readonly plan: Plan
  /** With its edits written: what is planned then. */
  again(): Promise<Plan>
}

export async function planned(
  t: Test,
  files: Files,
  application: Partial<Application> = {},
  wishes: Partial<Wishes> = {},
): Promise<Planned> {
  const folder = temporaryFolder(t)
  write(folder, files)
  const plan = async () =>
    planFor(await openProject(folder), { ...EXPRESS, ...application }, { ...WISHES, ...wishes })
  const first = await plan()
  return {
    folder,
    plan: first,
    again() {
      write(folder, Object.fromEntries(first.edits.map(({ path, after }) => [path, after])))
      return plan()
    },
  }
}
