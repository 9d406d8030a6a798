internal import RowStore

/// Relationships of an object, by their places among those of its entity: inherited ones first, each entity's in the order of
/// the model. For generated code, and for classes that are written by hand.
extension ManagedObject {
    /// The object that a to-one relationship leads to; nil for none.
    ///
    /// Also nil if the related object is gone, as after a deletion with the rule No Action, and if the owner has no context
    /// any more. A link that cannot be read is nil, too, and the save or the read then throws; on main,
    /// ``PersistentContainer/failures`` reports it.
    ///
    /// **Isolation**: that of the object's context.
    ///
    /// - Complexity: one query for up to 1,000 objects that were fetched together, the first time; then constant.
    public final func relatedObject<Object: ManagedObject>(at index: Int) -> Object? {
        following { context in
            context.adopt(Object.self, layout.relationships[index])
            return try context.destination(of: self, at: index)
        } as? Object
    }

    /// Sets the object of a to-one relationship. The other side shows it at once.
    ///
    /// The link is stored in the row of one side. If another data source owns that row, the save throws `entityNotOwned`.
    public final func setRelatedObject<Object: ManagedObject>(_ object: Object?, at index: Int) {
        linking(index)?.set(object)
    }

    /// The objects that a to-many relationship leads to.
    public final func relatedObjects<Object: ManagedObject>(at index: Int) -> RelatedObjects<Object> {
        RelatedObjects(self, index)
    }

    /// The objects that an ordered to-many relationship leads to, in its order.
    public final func relatedList<Object: ManagedObject>(at index: Int) -> [Object] {
        following { context in
            let relationship = layout.relationships[index]
            context.adopt(Object.self, relationship)
            return context.typed(try context.relatedObjects(of: self, at: index), relationship)
        } ?? []
    }

    /// Sets the objects that an ordered to-many relationship leads to, and their order. An object that comes twice counts where
    /// it comes first.
    public final func setRelatedList<Object: ManagedObject>(_ objects: [Object], at index: Int) {
        linking(index)?.set(objects)
    }

    /// Reads by way of the context; nil without one, and if it fails.
    final func following<R>(_ body: (ManagedObjectContext) throws -> R?) -> R? {
        guard let context else {
            hasFollowed = true
            return nil
        }
        do {
            return try body(context)
        } catch {
            context.noteReadFailure(error)
            return nil
        }
    }

    /// What changes the links of a relationship; nil without a context.
    final func linking(_ index: Int) -> LinkEditor? {
        let name = layout.relationships[index].name
        precondition(
            editing != .not,
            "\(layout.name).\(name) was set on an object of a context for reading. Edit it in a hook or in perform { } of its data source."
        )
        if editing == .inDraft { draft.checkInBatch() }
        if isDeleted {
            context?.refuse(
                DataSourceError(
                    .objectGone,
                    "\(layout.name).\(name) was set on an object that had been deleted. Insert a new one.",
                    entityName: layout.name, attributeName: name))
            return nil
        }
        hasFollowed = hasFollowed || context == nil
        return (context as? EditingContext).map { LinkEditor($0, self, index) }
    }
}
