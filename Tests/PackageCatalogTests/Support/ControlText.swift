/// A package as a control file has it.
struct ControlPackage {
    var name: String
    var version = "1.0"
    var section = "utils"
    var maintainer = "Jane Doe <jane@example.org>"
    var summary = "a package"
    var depends: String? = "libc6 (>= 2.34),\n libgcc-s1"
    var preDepends: String?
    var provides: String?

    var text: String {
        """
        Package: \(name)
        Status: install ok installed
        Priority: optional
        Section: \(section)
        Installed-Size: 42
        Maintainer: \(maintainer)
        Architecture: all
        Version: \(version)
        \(links)Description: \(summary)
         It is there to be tested.
        Homepage: https://example.org/\(name)


        """
    }

    private var links: String {
        [("Pre-Depends", preDepends), ("Depends", depends), ("Provides", provides)].reduce(into: "") { text, field in
            if let value = field.1 { text += "\(field.0): \(value)\n" }
        }
    }

    /// Different packages of a few maintainers.
    static func many(_ count: Int) -> [ControlPackage] {
        (0..<count).map { number in
            ControlPackage(
                name: "package-\(number)", section: number.isMultiple(of: 2) ? "utils" : "libs",
                maintainer: "Maintainer \(number % 7) <m\(number % 7)@example.org>", summary: "package number \(number)"
            )
        }
    }
}

extension [ControlPackage] {
    var text: String { map(\.text).joined() }
}
