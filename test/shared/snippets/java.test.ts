/**
 * Debian has a Tomcat and a Jackson of Spring Boot's generation, but no Spring Boot. The filter runs
 * in that Tomcat, on stand-ins for the seven names of Spring that it is written against.
 */
// long: builds and starts servers in Java
import { existsSync } from 'node:fs'
import { JAVA } from '../../../shared/integration/snippets/java.ts'
import { keepsItsPromises } from './promises.ts'

const JARS = [
  'tomcat10-embed-core',
  'jakarta-annotation-api',
  'jackson-core',
  'jackson-databind',
  'jackson-annotations',
].map((name) => `/usr/share/java/${name}.jar`)
const COMPILER = '/usr/bin/javac'
const lacking = [COMPILER, ...JARS].filter((file) => !existsSync(file))

function annotation(members = ''): string {
  return `@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
public @interface NAME { ${members} }`
}

const SPRING: Readonly<Record<string, string>> = {
  'stereotype.Component': annotation(),
  'core.annotation.Order': annotation('int value();'),
  'beans.factory.annotation.Value': annotation('String value();'),
  'core.Ordered': 'public interface NAME { int HIGHEST_PRECEDENCE = Integer.MIN_VALUE; }',
  'boot.json.JsonParser': `public interface NAME {
  java.util.Map<String, Object> parseMap(String json);
}`,
  'boot.json.JsonParserFactory': `public class NAME {
  private static final com.fasterxml.jackson.databind.ObjectMapper MAPPER =
      new com.fasterxml.jackson.databind.ObjectMapper();

  /** As Spring Boot's: an object, or an exception that nobody has to declare. */
  public static JsonParser getJsonParser() {
    return (json) -> {
      try {
        if (!json.trim().startsWith("{")) throw new IllegalArgumentException("no object");
        return MAPPER.readValue(json, new com.fasterxml.jackson.core.type.TypeReference<>() {});
      } catch (java.io.IOException malformed) {
        throw new IllegalArgumentException(malformed);
      }
    };
  }
}`,
  'web.filter.OncePerRequestFilter': `import jakarta.servlet.*;
import jakarta.servlet.http.*;

public abstract class NAME extends HttpFilter {
  protected final org.apache.juli.logging.Log logger =
      org.apache.juli.logging.LogFactory.getLog(getClass());

  protected abstract void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, java.io.IOException;

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, java.io.IOException {
    doFilterInternal(request, response, chain);
  }
}`,
}

/** What Spring Boot does at its start: the filter is made of the settings, in front of a page. */
const PROJECT = `import com.example.demo.ServiceClaimsFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.*;
import java.util.Map;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.springframework.beans.factory.annotation.Value;

public class Project {
  /** As Spring does: what stands behind the first colon is taken where nothing is set. */
  private static String resolved(String placeholder) {
    String[] parts = placeholder.substring(2, placeholder.length() - 1).split(":", 2);
    String value = System.getenv(parts[0]);
    if (value == null && parts.length == 1) throw new IllegalArgumentException(placeholder);
    return value == null ? parts[1] : value;
  }

  public static void main(String[] args) throws Exception {
    var tomcat = new Tomcat();
    tomcat.setBaseDir(System.getProperty("user.dir"));
    tomcat.setPort(Integer.parseInt(System.getenv("PORT")));
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    var context = tomcat.addContext("", null);
    var filter = new FilterDef();
    filter.setFilterName("claims");
    var made = ServiceClaimsFilter.class.getConstructors()[0];
    var values = new java.util.ArrayList<String>();
    for (var parameter : made.getParameters())
      values.add(resolved(parameter.getAnnotation(Value.class).value()));
    filter.setFilter((ServiceClaimsFilter) made.newInstance(values.toArray()));
    context.addFilterDef(filter);
    var mapping = new FilterMap();
    mapping.setFilterName("claims");
    mapping.addURLPattern("/*");
    mapping.setDispatcher(DispatcherType.REQUEST.name());
    context.addFilterMap(mapping);
    Tomcat.addServlet(context, "page", new HttpServlet() {
      @Override
      protected void doGet(HttpServletRequest request, HttpServletResponse response)
          throws java.io.IOException {
        var user = (Map<?, ?>) request.getAttribute("serviceUser");
        response.setContentType("text/plain; charset=utf-8");
        response.getWriter().print("Hello " + user.get("name") + "\\n");
      }
    });
    context.addServletMappingDecoded("/", "page");
    tomcat.start();
    tomcat.getServer().await();
  }
}
`

const standIns = Object.entries(SPRING).map(([name, code]) => {
  const packages = name.split('.').slice(0, -1)
  const simple = name.split('.').at(-1) ?? ''
  const text = `package org.springframework.${packages.join('.')};\n\n${code}\n`
  const file = `stand-ins/org/springframework/${name.replaceAll('.', '/')}.java`
  return [file, text.replace('NAME', simple)] as const
})
const files = { ...Object.fromEntries(standIns), 'Project.java': PROJECT }
const sources = [...Object.keys(files), JAVA['spring']?.edge.file ?? '']

keepsItsPromises(JAVA['spring'], {
  missing: lacking.length > 0 && `there is no ${lacking.join(', ')} here`,
  files,
  build: [COMPILER, '-proc:none', '-d', 'classes', '-cp', JARS.join(':'), ...sources],
  start: [
    '/usr/bin/java',
    '-XX:TieredStopAtLevel=1',
    '-cp',
    ['classes', ...JARS].join(':'),
    'Project',
  ],
})
