internal import ManagedModel
internal import ModelMigration

/// The differences between two models, and what happens to a store of the old model.
struct ModelComparison {
    let plan: MigrationPlan

    init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
        plan = MigrationPlan(from: old, to: new)
    }

    /// A line for each change, followed by the lines of ``verdict``.
    var lines: [String] { plan.changes.map(\.description) + verdict }

    /// Says whether a migration keeps the rows of a store, and which data is lost.
    private var verdict: [String] {
        guard plan.isPossible else {
            let lines = ["cannot be migrated, so stores are reset:"] + plan.obstacles.map(indented)
            if problemsThatPreventMigration.isEmpty { return lines }
            return lines + ["after these are mended, a store with one of these problems is still reset:"]
                + problemsThatPreventMigration.map(indented)
        }
        let losses = plan.losses.map { indented($0.description) }
        var lines: [String]
        if problemsThatPreventMigration.isEmpty {
            lines = [
                "can be migrated with the policy .migrate"
                    + (losses.isEmpty ? "; nothing is lost" : ", but these are lost:")
            ]
        } else {
            lines = [
                "can be migrated with the policy .migrate, except for a store with one of these problems, which is reset:"
            ]
            lines +=
                problemsThatPreventMigration.map(indented) + [
                    "a migration loses" + (losses.isEmpty ? " nothing" : " these:")
                ]
        }
        lines += losses
        if !toleratedProblems.isEmpty {
            lines += ["objects that break these new rules are kept unchanged:"] + toleratedProblems.map(indented)
        }
        return lines
    }

    private func indented(_ line: String) -> String { "  \(line)" }

    private var problemsThatPreventMigration: [String] { problems(areBinding: true) }
    /// The problems that rows can have, but that do not prevent a migration.
    private var toleratedProblems: [String] { problems(areBinding: false) }

    private func problems(areBinding: Bool) -> [String] {
        var seen: Set<String> = []
        return plan.conditions.filter { !$0.isExpected && $0.preventsMigration == areBinding }.map(\.problem)
            .filter { seen.insert($0).inserted }
    }

    var changesJSON: JSON {
        .list(
            plan.changes.map { change in
                .object([
                    ("entity", .string(change.entityName)), ("property", .string(change.propertyName)),
                    ("change", .string(change.words)),
                ])
            })
    }

    var migrationJSON: JSON {
        .object([
            ("possible", .flag(plan.isPossible)), ("verdict", .string(plan.isPossible ? "migrated" : "reset")),
            ("losses", .strings(plan.isPossible ? plan.losses.map(\.description) : [])),
            ("obstacles", .strings(plan.obstacles)), ("conditions", .strings(problemsThatPreventMigration)),
            ("requirements", .strings(toleratedProblems)),
        ])
    }
}
