/** The agent, as it is fetched: the program, and the script that installs just that one. */
import { VERSION } from '../../../shared/version.ts'
import type { DevicePlatform } from '../../../shared/device/facts.ts'
import { makeInstaller } from '../bundling/installer.ts'
import { createProgramDownloads } from '../bundling/program-download.ts'
import type { Download } from '../bundling/made-once.ts'
import type { RuntimePlatform, Runtimes } from './runtimes.ts'
import { windowsInstaller } from './windows/installer.ts'

/** Node comes with it, where there is none. */
const FETCH_SECONDS_MAX = 900

interface AgentDownloadsWorld {
  readonly baseUrl: string
  readonly runtimes: Runtimes
}

interface AgentDownloads {
  /** One file of plain JavaScript that Node runs. */
  program(): Promise<Download>
  /** '' as the ticket: it is asked for. */
  installer(platform: DevicePlatform, ticket: string): Promise<Buffer>
}

export function createAgentDownloads({ baseUrl, runtimes }: AgentDownloadsWorld): AgentDownloads {
  const folder = new URL('./', import.meta.url)
  const { program } = createProgramDownloads({
    name: 'service-device-agent',
    about: 'the device agent',
    description: 'Tells the sign-in protection service how a machine is',
    path: '/install/agent',
    folder,
    baseUrl,
  })

  const nodeSha256 = async (platform: RuntimePlatform) => (await runtimes.find(platform))?.sha256

  const linuxInstaller = async (ticket: string) =>
    makeInstaller(new URL('install.sh', folder), {
      ...{ BASE_URL: baseUrl, NAME: 'service-device-agent', VERSION, TICKET: ticket },
      SECONDS_MAX: String(FETCH_SECONDS_MAX),
      AGENT_SHA256: (await program()).sha256,
      NODE_X64_SHA256: (await nodeSha256('linux-x64')) ?? '',
      NODE_ARM64_SHA256: (await nodeSha256('linux-arm64')) ?? '',
    })

  const ofPlatform: Readonly<Record<DevicePlatform, (ticket: string) => Promise<Buffer | string>>> =
    {
      linux: linuxInstaller,
      windows: async (ticket) =>
        windowsInstaller({
          baseUrl,
          agentSha256: (await program()).sha256,
          nodeSha256: { x64: await nodeSha256('win-x64'), arm64: await nodeSha256('win-arm64') },
          ticket,
        }),
    }

  return {
    program,
    installer: async (platform, ticket) => Buffer.from(await ofPlatform[platform](ticket)),
  }
}
