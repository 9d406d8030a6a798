internal import DebianControl

/// The packages of a control file, and the records that could not be read.
struct PackageList {
    private(set) var packages: [PackageRecord] = []
    /// How many packages cannot be stored. Records without a package's name are listed with them, but do not count.
    private(set) var brokenCount = 0
    private var faults: [BrokenRecord] = []

    private struct BrokenRecord {
        var name: String
        var fault: ControlFault
    }

    /// - Throws: If the input cannot be read to its end, or contains nothing to store.
    init(_ input: Input) throws {
        var parser = ControlParser(leadingField: "Package")
        let progress = ProgressBar.standardError
        progress.begin("Reading", total: input.byteCount)
        try input.read { bytes in
            for record in parser.parse(bytes) { add(record) }
            progress.advance(by: bytes.count)
        }
        for record in parser.finish() { add(record) }
        progress.end()
        if packages.isEmpty {
            reportFaults()
            throw CatalogError("\(input.name) contains no package. Nothing was changed.")
        }
    }

    private mutating func add(_ record: ControlRecord) {
        do throws(ControlFault) {
            packages.append(try PackageRecord(record))
        } catch {
            let name = (try? record.folded("Package")) ?? "a record without a name"
            faults.append(BrokenRecord(name: name, fault: error))
            if record.hasLeadingField { brokenCount += 1 }
        }
    }

    /// Lists the records that were left out, the first of them one by one.
    func reportFaults() {
        for record in faults.prefix(20) {
            StandardError.print("line \(record.fault.line): \(record.name): \(record.fault.message)")
        }
        if faults.count > 20 { StandardError.print("… and \(faults.count - 20) more broken records") }
    }
}
