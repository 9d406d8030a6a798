internal import Foundation

/// What the command line asks for.
struct Arguments {
    enum Command: Equatable {
        case help
        case update
        case list(ListFilter)
        case delete(names: [String])
        case watch(section: String?)
    }

    var command = Command.update
    var input = Input.dpkgStatus
    /// Where the store is; nil for memory.
    var storeFile: URL?
    var databaseKey = "1"

    static let help = """
        Usage: package-catalog [--input FILE] [OPTIONS]
               package-catalog list [--section S] [--search TEXT] [--limit N] [OPTIONS]
               package-catalog delete NAME... [OPTIONS]
               package-catalog watch [--input FILE] [--section S] [OPTIONS]

        Without a command, makes the stored catalog equal to a Debian control file, and says what changed.

          --input FILE        the control file; - is standard input (default: /var/lib/dpkg/status)

          list                prints what is stored: name, version, architecture, section, summary
          --section S         only packages of this section
          --search TEXT       only packages with this text in their name or summary
          --limit N           at most so many

          delete NAME...      deletes the packages of these names

          watch               updates the catalog, then shows it by sections and follows every change of the input file, and
                              those by lines of standard input: delete NAME, add FILE, and quit. Changes are marked:
                              + new, - deleted, > moved, * changed. Without a terminal each is a line
          --section S         only packages of this section

          --store FILE        the catalog (default: package-catalog/packages.sqlite in the user's data directory)
          --database-key KEY  a label for the contents; another one than last time empties the store before it is filled
          --memory            keeps the catalog in memory; list and delete read the input first

        Exit status: 0 if all is well, 1 if something could not be done, 2 if the arguments make no sense.

        """
}

extension Arguments.Command {
    /// Whether the control file is read for it.
    var readsInput: Bool {
        switch self {
        case .update, .watch: true
        case .help, .list, .delete: false
        }
    }
}

/// The arguments make no sense.
struct UsageError: Error {
    var message: String
}
