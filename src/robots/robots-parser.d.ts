/** The package's own types declare a default export, but it assigns its function to `module.exports`. */
declare module 'robots-parser' {
  interface Robots {
    /** undefined: the rules belong to another origin. */
    isAllowed(url: string, userAgent?: string): boolean | undefined;
  }
  function robotsParser(url: string, text: string): Robots;
  export = robotsParser;
}
