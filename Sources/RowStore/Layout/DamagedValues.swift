internal import ManagedModel

/// Receives reports that a stored value does not have its attribute's type, and reads as another value.
package final class DamagedValues: Sendable {
    package typealias Handler = @Sendable (EntityLayout, _ column: Int) -> Void

    private let handler = Guarded<Handler?>(nil)

    /// Sets the listener. The same value may be reported repeatedly.
    package func connect(_ handler: @escaping Handler) {
        self.handler.withLock { $0 = handler }
    }

    func note(_ layout: EntityLayout, _ column: Int) {
        handler.withLock { $0 }?(layout, column)
    }
}

extension EntityLayout {
    /// Reports that a stored value does not have its attribute's type.
    package func noteDamage(_ column: Int) { damage.note(self, column) }
}

extension DataSourceError {
    package init(damagedColumn column: Int, _ layout: EntityLayout) {
        let attribute = layout.columns[column].name
        let isTransformable = layout.columns[column].attribute?.type == .transformable
        let message =
            isTransformable
            ? "An object of \(layout.name) has a stored \(attribute) that cannot be decoded as the type of the attribute, and reads as "
                + "nil. If a release of the app has changed that type, decode what earlier ones have saved, or give the new type to a "
                + "new attribute. Otherwise another program or a disk failure has damaged it."
            : "An object of \(layout.name) has a stored \(attribute) with an invalid value, which reads as the default "
                + "value. Another program or a disk failure has damaged it. Save the object again, or restore the store."
        self.init(.damagedValue, message, entityName: layout.name, attributeName: attribute)
    }
}
