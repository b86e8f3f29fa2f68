/** What stands in paths as `{name}`. */

export const PATH_PARAMETERS = {
  tenant_id: { description: 'The ID of the tenant.', example: 'acme' },
  group: { description: 'The name of the group.', example: 'finance' },
  service_id: { description: 'The ID of the machine.', example: 'svc_1b9f6c1e2d3a4b5c' },
  secret_id: {
    description: 'The ID of the secret, not the secret itself.',
    example: 'ssk_1b9f6c1e2d3a4b5c',
  },
  connection_id: { description: 'The ID of the connection.', example: 'con_1b9f6c1e2d3a4b5c' },
  client_id: { description: 'The ID of the OIDC client.', example: 'cli_1b9f6c1e2d3a4b5c' },
  domain: { description: 'An email domain of the connection.', example: 'acme.example' },
  user_id: {
    description: 'The ID of the user.',
    example: 'usr_1b9f6c1e2d3a4b5c',
  },
  sign_up_id: { description: 'The ID of the request.', example: 'sup_1b9f6c1e2d3a4b5c' },
  hostname: { description: 'One of the hostnames of the tenant.', example: 'app.acme.example' },
  address: { description: 'The blocked IP address.', example: '192.0.2.7' },
  factor_id: { description: 'The ID of the second factor.', example: 'fac_1b9f6c1e2d3a4b5c' },
  invitation_id: { description: 'The ID of the invitation.', example: 'inv_1b9f6c1e2d3a4b5c' },
  alert_id: { description: 'The ID of the alert.', example: 'alert_1b9f6c1e2d3a4b5c' },
  token_id: { description: 'The ID of the join token.', example: 'cjt_1b9f6c1e2d3a4b5c' },
  connector_id: { description: 'The ID of the connector.', example: 'con_1b9f6c1e2d3a4b5c' },
  ticket_id: { description: 'The ID of the device ticket.', example: 'dvt_1b9f6c1e2d3a4b5c' },
  device_id: { description: 'The ID of the device.', example: 'dev_1b9f6c1e2d3a4b5c' },
  platform: {
    description: 'Which Node.js: linux-x64, linux-arm64, win-x64 or win-arm64.',
    example: 'linux-x64',
  },
  gateway_id: { description: 'The ID of the gateway.', example: 'edge-1' },
  key_id: { description: 'The ID of the key, not the key itself.', example: '1b9f6c1e2d3a' },
  webhook_id: { description: 'The ID of the webhook.', example: 'whk_1b9f6c1e2d3a4b5c' },
  delivery_id: { description: 'The ID of the delivery.', example: 'dlv_1b9f6c1e2d3a4b5c' },
} as const

type PathParameter = keyof typeof PATH_PARAMETERS

export function parametersIn(path: string): readonly PathParameter[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => {
    if (!(name in PATH_PARAMETERS)) throw new Error(`path-parameters.ts says nothing of {${name}}`)
    return name as PathParameter
  })
}
