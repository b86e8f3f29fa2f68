/** The install scripts as files, for those who administer the tenant. No ticket is in them. */
import { DEVICE_PLATFORMS, type DevicePlatform } from '../../../../shared/device/facts.ts'
import { entering } from '../../access/entering.ts'
import { page, type ConsoleRoute } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'

const FILES: Readonly<Record<DevicePlatform, string>> = {
  linux: 'install-device-agent.sh',
  windows: 'install-device-agent.ps1',
}

/** Whoever is not signed in gets the 404 of whoever is somebody else's administrator. */
export function installRoutes({ agentDownloads, tenants }: ConsoleWorld): readonly ConsoleRoute[] {
  return DEVICE_PLATFORMS.map((platform) =>
    page({ path: `/install/${platform}/{tenant_id}`, role: 'anyone' }, async ({ path, viewer }) => {
      await entering('tenant', path, viewer, tenants)
      const bytes = await agentDownloads.installer(platform, '')
      return new Response(new Uint8Array(bytes), {
        headers: {
          'Content-Type': 'application/octet-stream',
          'Content-Disposition': `attachment; filename="${FILES[platform]}"`,
          'Cache-Control': 'no-store',
        },
      })
    }),
  )
}
