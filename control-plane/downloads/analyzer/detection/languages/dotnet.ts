/** ASP.NET Core: minimal hosting in Program.cs, or the older pair of Program and Startup. */
import { readMsbuildProjects } from '../manifests/msbuild.ts'
import type { Language } from '../reader/language.ts'
import type { ReadPart } from '../reader/part.ts'
import { inClassOf, onGroupOf } from '../reader/routes.ts'
import { stringAt, stringBehind, type Hit, type Source } from '../source/source.ts'

const BUILDER = /\bWebApplication\s*\.\s*Create(?:(?:Slim|Empty)?Builder)?\s*\(/
const HOST =
  /\bCreate(?:Web)?HostBuilder\s*\(|\b(?:Web)?Host\s*\.\s*CreateDefaultBuilder\s*\(|\bnew\s+WebHostBuilder\s*\(/
const STARTS = {
  at: /\bstatic\s+(?:async\s+)?(?:void|int|Task(?:<int>)?)\s+Main\s*\(/,
  confidence: 'sure',
  detail: 'The program starts here.',
} as const
const MADE = {
  beside: BUILDER,
  value: 'WebApplication',
  confidence: 'sure',
  severally: 'guess',
  detail: 'The application is made here: the middleware goes right behind it.',
} as const
/** Plain HTTP first: that is what stands behind an edge. */
const IN_URL = [
  /(?:^|;)http:\/\/[^/\s;]*?:(\d{2,5})(?:[/;]|$)/,
  /(?:^|;)https?:\/\/[^/\s;]*?:(\d{2,5})(?:[/;]|$)/,
]

export const DOTNET: Language = {
  name: 'csharp',
  title: 'C#',
  files: /\.cs$/,
  isAside: () => false,
  settings: ['appsettings.json', 'Properties/launchSettings.json'],
  parts: readMsbuildProjects,
  several: 'It is one of several projects.',
  frameworks: [
    {
      name: 'aspnet',
      title: 'ASP.NET Core',
      packages: [/^Microsoft\.NET\.Sdk\.Web$/],
      detail: ['The project is built with the SDK of ASP.NET Core.'],
      made: 'manifest',
      entry: [
        { code: BUILDER, ...STARTS },
        { code: HOST, ...STARTS },
      ],
      mount: [
        // of several the one that is run
        {
          ...MADE,
          code: /\b(\w+)\s*=\s*(?:await\s+)?\w+(?:\s*\.\s*\w+\s*\([^()]*\))*\s*\.\s*Build\s*\(\s*\)\s*;(?=[^]*?\b\1\s*\.\s*Run(?:Async)?\s*\()/,
        },
        {
          ...MADE,
          code: /\b\w+\s*=\s*(?:await\s+)?\w+(?:\s*\.\s*\w+\s*\([^()]*\))*\s*\.\s*Build\s*\(\s*\)/,
        },
        { ...MADE, code: /\bWebApplication\s*\.\s*Create\s*\(/ },
        {
          code: /\bvoid\s+Configure\s*\(\s*(?=[^)]*\bIApplicationBuilder\b)/,
          value: 'Configure',
          confidence: 'sure',
          severally: 'guess',
          detail: 'The middleware of all requests is set here, in its order.',
        },
      ],
      routes: [
        {
          calls:
            /(\w*)\s*\.\s*(?:(?:Map|Use)HealthChecks|MapGet|MapMethods)\s*\(\s*(?:pattern\s*:\s*)?/,
          path: textAt,
          nested: [onGroupOf(/\b(\w+)\s*=\s*(\w+)\s*\.\s*MapGroup\s*\(\s*/)],
        },
        // [Route("api/[controller]")] class HealthController { [HttpGet] … }
        {
          calls: /\[HttpGet\b\s*(?:\(\s*)?/,
          path: (source, { end }) => stringAt(source, end) ?? '',
          isAbsolute: true,
          nested: [
            inClassOf(
              /\bclass\s+(\w+?)(?:Controller)?\b[^{;]*(?=\{)/,
              /\[(?:\w+\(\)\s*,\s*)?Route\s*\(\s*/,
            ),
          ],
          confidence: 'likely',
        },
      ],
      port: [
        // app.Run("http://0.0.0.0:8080"), UseUrls("http://*:5005")
        {
          code: /\b(?:Run|RunAsync|UseUrls|Urls\s*\.\s*Add)\s*\(\s*(?=[@$]*"[^"]*")/,
          reads: /^[@$]*"https?:\/\/[^/\s"]*?:(\d{2,5})[/;"]/,
          confidence: 'sure',
          detail: 'The code says so.',
        },
        {
          setting: /^(?:urls|kestrel\.endpoints\..+\.url)$/,
          reads: IN_URL,
          confidence: 'sure',
          detail: 'The settings say so.',
        },
        // for developers: likely, no more
        {
          setting: /^profiles\..+\.applicationurl$/,
          beside: ['commandname', 'Project'],
          reads: IN_URL,
          confidence: 'likely',
          detail: 'It is started there while it is developed.',
        },
        'deployment',
        'configured',
      ],
      customaryPort: [
        5000,
        'ASP.NET Core listens there unless told otherwise; in containers on 8080 since .NET 8.',
      ],
      signIn: {
        code: [
          [/\.\s*Add(?:Default)?Identity(?:Core|ApiEndpoints)?\s*[<(]/, 'aspnet-identity'],
          [/\.\s*AddJwtBearer\s*\(/, 'jwt-bearer'],
          [/\.\s*AddOpenIdConnect\s*\(/, 'openid-connect'],
          [/\.\s*AddCookie\s*\(/, 'cookie-authentication'],
          [/\.\s*AddMicrosoftIdentityWeb(?:App|Api)\b/, 'microsoft-identity-web'],
        ],
        packages: [
          [/^Microsoft\.AspNetCore\.Identity\b/, 'aspnet-identity'],
          [/^Microsoft\.AspNetCore\.Authentication\.JwtBearer$/, 'jwt-bearer'],
          [/^Microsoft\.AspNetCore\.Authentication\.OpenIdConnect$/, 'openid-connect'],
          [
            /^Microsoft\.AspNetCore\.Authentication\.(?:Google|Facebook|MicrosoftAccount|Twitter)$/,
            'aspnet-authentication',
          ],
          [/^Microsoft\.Identity\.Web\b/, 'microsoft-identity-web'],
          [/^(?:Duende\.)?IdentityServer4?\b/, 'identity-server'],
          [/^OpenIddict\b/, 'openiddict'],
          [/^Auth0\.AspNetCore\b/, 'auth0'],
          [/^Okta\.AspNetCore$/, 'okta'],
          [/^Keycloak\.AuthServices\b/, 'keycloak'],
        ],
      },
      integrated: [{ code: /\bUseMiddleware\s*<\s*(?:\w+\.)*ServiceClaims\s*>/ }],
    },
  ],
}

/** `MapHealthChecks(HealthPath)`, with `const string HealthPath = "/health"` in whichever file. */
function textAt(source: Source, { end }: Hit, { sources }: ReadPart): string | null {
  const direct = stringAt(source, end)
  if (direct !== null) return direct
  const [, name] = /^(?:\w+\.)*(\w+)\s*[,)]/.exec(source.code.slice(end, end + 200)) ?? []
  if (name === undefined) return null
  const given = new RegExp(String.raw`\b(?:const|readonly)\s+string\s+${name}\s*=\s*`)
  return sources.map((one) => stringBehind(one, given)).find((one) => one !== null) ?? null
}
