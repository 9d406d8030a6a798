internal import CommandLineWords
internal import Foundation

struct Arguments {
    enum Command: Equatable {
        case help
        case update
        case list(ListFilter)
        case delete(names: [String])
        case deleteMaintainers(keys: [String])
        case depends(name: String)
        case rdepends(name: String)
        case why(name: String)
        case watch(WatchSubject)
    }

    var command = Command.update
    var input = Input.dpkgStatus
    var catalogLocation = CatalogLocation.memory
    var databaseKey = "1"

    static let help = """
        Usage: package-catalog [--input FILE] [OPTIONS]
               package-catalog list [--section S] [--search STRING] [--limit N] [OPTIONS]
               package-catalog depends NAME [OPTIONS]
               package-catalog rdepends NAME [OPTIONS]
               package-catalog why NAME [OPTIONS]
               package-catalog delete NAME... [OPTIONS]
               package-catalog delete --maintainer KEY... [OPTIONS]
               package-catalog watch [--input FILE] [--section S | --rdepends NAME] [OPTIONS]

        Without a command, makes the stored catalog equal to a Debian control file, and prints the changes.

          --input FILE        the control file; - is standard input (default: /var/lib/dpkg/status)

          list                prints the stored packages: name, version, architecture, section, summary
          --section S         only packages of this section
          --search STRING     only packages with this string in their name or summary
          --limit N           at most N packages

          depends NAME        prints the requirements of the packages with this name, and the stored packages that meet them
          rdepends NAME       prints the packages that need a package with this name, or a name that it provides
          why NAME            prints a shortest chain of dependencies to this package, from a package that no package needs

          delete NAME...      deletes the packages with these names
          --maintainer        deletes maintainers instead, by address; refuses maintainers with packages

          watch               updates the catalog, then shows it by sections, and follows every change of the input file. Reads
                              commands from standard input: delete NAME, add FILE, and quit. Marks changes: + new, - deleted,
                              > moved, * changed. If the output is not a terminal, prints a line for each change
          --section S         only packages of this section
          --rdepends NAME     shows the dependencies on this package, and on the names that it provides, instead of packages

          --store FILE        the catalog (default: package-catalog/packages.sqlite in the user's data directory)
          --store postgresql://USER@HOST/DATABASE
                              the catalog on a server, for any number of processes and machines (in builds with the trait
                              PostgreSQL)
          --shared            lets other processes with this option open the file, too: a watch in one terminal follows the
                              updates and deletes in another terminal
          --database-key KEY  a label for the contents; if the label changes, the store is emptied and filled again
          --memory            keeps the catalog in memory; every command reads the input first

        Exit status: 0 success, 1 an error, 2 the arguments are invalid.

        """
}

extension Arguments.Command {
    /// Whether the command reads the control file.
    var readsInput: Bool {
        switch self {
        case .update, .watch: true
        case .help, .list, .delete, .deleteMaintainers, .depends, .rdepends, .why: false
        }
    }
}

extension Arguments {
    init(_ words: some Sequence<String>) throws {
        self.init()
        let line = try CommandLineWords(
            words.map { $0 == "-h" ? "--help" : $0 }, flags: ["--help", "--memory", "--maintainer", "--shared"],
            values: ["--input", "--store", "--database-key", "--section", "--search", "--limit", "--rdepends"])
        if line.flag("--help") {
            command = .help
            return
        }
        let isInMemory = line.flag("--memory")
        let store = try line.text("--store")
        if isInMemory && store != nil { throw UsageError("--memory and --store exclude each other") }
        if isInMemory && line.flag("--shared") { throw UsageError("--memory and --shared exclude each other") }
        if let key = try line.text("--database-key") { databaseKey = key }
        command = try Self.command(line)
        if command.readsInput || isInMemory { input = try line.text("--input").map(Input.init) ?? input }
        try line.allow(only: command.options.union(isInMemory ? ["--input", "--memory"] : ["--store", "--shared"]))
        if !isInMemory { catalogLocation = try CatalogLocation(store, isShared: line.flag("--shared")) }
    }

    private static func command(_ line: CommandLineWords) throws -> Command {
        let words = line.plain.dropFirst()
        switch line.plain.first {
        case nil: return .update
        case "list":
            try expectNoMore(words)
            return .list(
                ListFilter(
                    section: try line.text("--section"), search: try line.text("--search"),
                    limit: try line.number("--limit")))
        case "delete":
            if words.isEmpty { throw UsageError("delete needs a name") }
            return line.flag("--maintainer") ? .deleteMaintainers(keys: Array(words)) : .delete(names: Array(words))
        case "depends": return .depends(name: try name(words, "depends"))
        case "rdepends": return .rdepends(name: try name(words, "rdepends"))
        case "why": return .why(name: try name(words, "why"))
        case "watch":
            try expectNoMore(words)
            let section = try line.text("--section")
            guard let name = try line.text("--rdepends") else { return .watch(.packages(section: section)) }
            if section != nil { throw UsageError("--section and --rdepends exclude each other") }
            return .watch(.dependents(of: name))
        case let word?: throw UsageError("unknown command \(word)")
        }
    }

    private static func name(_ words: ArraySlice<String>, _ command: String) throws -> String {
        guard let name = words.first else { throw UsageError("\(command) needs the name of a package") }
        try expectNoMore(words.dropFirst())
        return name
    }

    private static func expectNoMore(_ words: ArraySlice<String>) throws {
        if let word = words.first { throw UsageError("unexpected argument \(word)") }
    }
}

extension Arguments.Command {
    /// The options of the command, except the options for the location of the catalog.
    fileprivate var options: Set<String> {
        let own: Set<String> =
            switch self {
            case .help, .update, .delete, .depends, .rdepends, .why: []
            case .deleteMaintainers: ["--maintainer"]
            case .list: ["--section", "--search", "--limit"]
            case .watch: ["--section", "--rdepends"]
            }
        return own.union(readsInput ? ["--input", "--database-key"] : ["--database-key"])
    }
}

extension CommandLineWords {
    /// The value of an option; nil if the option is not given. An empty value is an error.
    fileprivate func text(_ name: String) throws -> String? {
        guard let text = value(name) else { return nil }
        if text.isEmpty { throw UsageError("\(name) needs a value") }
        return text
    }

    fileprivate func number(_ name: String) throws -> Int? {
        guard let text = try text(name) else { return nil }
        guard let number = Int(text), number >= 0 else { throw UsageError("\(name) needs a number, not \(text)") }
        return number
    }
}

/// The packages to list.
struct ListFilter: Equatable {
    var section: String?
    var search: String?
    var limit: Int?
}

/// The objects that a watch follows.
enum WatchSubject: Equatable {
    /// All packages, or the packages of a section.
    case packages(section: String?)
    /// The dependencies on the packages that have the given name, or on a name that these packages provide.
    case dependents(of: String)

    /// The noun for the rows.
    var noun: String {
        switch self {
        case .packages: "packages"
        case .dependents: "dependents"
        }
    }
}
