internal import CommandLineWords

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
        if !isInMemory { place = try CatalogPlace(store, isShared: line.flag("--shared")) }
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
            return .watch(.dependants(of: name))
        case let word?: throw UsageError("There is no command \(word)")
        }
    }

    private static func name(_ words: ArraySlice<String>, _ command: String) throws -> String {
        guard let name = words.first else { throw UsageError("\(command) needs the name of a package") }
        try expectNoMore(words.dropFirst())
        return name
    }

    private static func expectNoMore(_ words: ArraySlice<String>) throws {
        if let word = words.first { throw UsageError("\(word) is an unexpected argument") }
    }
}

extension Arguments.Command {
    /// The options that it has, apart from those that say where the catalog is.
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
    /// The value of an option, which is not empty.
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
